/** Entry point of the backend process. */
import { runProcess } from '#services/shared/lifecycle.ts';
import { backendOptions, startBackend } from './start.ts';

void runProcess('backend', startBackend, backendOptions);
