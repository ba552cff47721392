import { QueryClient } from '@tanstack/svelte-query';
import { ApiError } from './api-error.ts';

const retries = 2;

/** One cache for the whole dashboard. Refused requests are final; server failures are retried. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      retry: (failures, error) =>
        failures < retries && !(error instanceof ApiError && error.status < 500),
    },
  },
});
