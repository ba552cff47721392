import { error } from '@sveltejs/kit';

/** An address that no page has: told inside the dashboard, so that the menu leads on. */
export const load = (): never => error(404, 'Page not found.');
