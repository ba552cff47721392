import { QueryClient } from '@tanstack/svelte-query';
import { ApiError } from './api-error.ts';

const retries = 2;

/** The query cache of the whole dashboard. Client errors (4xx) are not retried; server and network errors are
 *  retried. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      retry: (failures, error) =>
        failures < retries && !(error instanceof ApiError && error.status < 500),
    },
  },
});
