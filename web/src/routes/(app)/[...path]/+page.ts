import { error } from '@sveltejs/kit';

/** Reports an unknown URL inside the dashboard, so that the menu stays available. */
export const load = (): never => error(404, 'Page not found.');
