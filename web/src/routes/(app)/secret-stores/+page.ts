import { requireRight } from '#lib/session/require-right.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = ({ parent }) => requireRight(parent, 'system.manage');
