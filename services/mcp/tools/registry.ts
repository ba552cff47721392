/** All tools. No tool reads or writes secrets, because only a script's runs receive its secrets. */
import type { Tool } from '../tool.ts';
import { errorTools } from './errors.ts';
import { repositoryTools } from './repositories.ts';
import { runTools } from './runs.ts';
import { scheduleTools } from './schedules.ts';
import { scriptTools } from './scripts.ts';

export const tools: readonly Tool[] = [
  ...scriptTools,
  ...runTools,
  ...errorTools,
  ...scheduleTools,
  ...repositoryTools,
];
