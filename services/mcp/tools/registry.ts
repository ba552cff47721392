/** Every tool. No tool reads or writes secrets: their values leave only into the runs of their script. */
import type { Tool } from '../tool.ts';
import { runTools } from './runs.ts';
import { scheduleTools } from './schedules.ts';
import { scriptTools } from './scripts.ts';

export const tools: readonly Tool[] = [...scriptTools, ...runTools, ...scheduleTools];
