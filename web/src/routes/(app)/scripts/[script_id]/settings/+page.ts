import { requireRight } from '#lib/require-right.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = ({ parent }) => requireRight(parent, 'scripts.disable');
