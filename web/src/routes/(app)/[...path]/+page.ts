import { error } from '@sveltejs/kit';

/** An unknown URL: reported inside the dashboard, with its menu. */
export const load = (): never => error(404, 'Page not found.');
