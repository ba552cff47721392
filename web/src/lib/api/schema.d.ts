export interface components {
  schemas: {
    Problem: {
      type?: string;
      title: string;
      status: number;
      detail?: string;
      code: string;
      trace_id?: string;
      errors?: { pointer: string; detail: string }[];
    };
    LastRun: { run_id: string; status: components['schemas']['RunStatus']; finished_at: string | null };
    Limits: {
      cpu_seconds: number | null;
      memory_bytes: number | null;
      address_space_bytes: number | null;
      open_files: number | null;
      processes: number | null;
      wall_clock_seconds: number | null;
      log_bytes: number | null;
      queue_seconds: number | null;
    };
    Script: {
      id: string;
      name: string;
      description: string;
      group_id: string;
      group: string;
      enabled: boolean;
      max_concurrent_runs: number;
      entrypoint: string;
      limits: components['schemas']['Limits'];
      version: number;
      created_at: string;
      updated_at: string;
      last_run: components['schemas']['LastRun'] | null;
    };
    RunStatus: 'queued' | 'running' | 'success' | 'failed' | 'stopped';
    Run: {
      run_id: string;
      script_id: string;
      script_name: string;
      script_version: number;
      status: components['schemas']['RunStatus'];
      stop_requested?: boolean;
      trigger_type: string;
      requested_by: string | null;
      queued_at: string;
      started_at: string | null;
      finished_at: string | null;
      duration_ms: number | null;
      exit_code: number | null;
      signal: string | null;
      failure_reason: string | null;
      attempt: number;
      params: unknown;
      log_lines: number;
      log_bytes: number;
      log_truncated: boolean;
      waiting?: boolean;
    };
    LogLine: {
      seq: number;
      time: string;
      stream: 'stdout' | 'stderr' | 'system';
      text: string;
      from_seq?: number;
      to_seq?: number;
    };
    FileEntry: { path: string; size_bytes: number; sha256: string; updated_at: string };
    Group: { id: string; name: string; color: string; icon: string };
    User: {
      id: string;
      email: string;
      name: string;
      role: 'administrator' | 'developer' | 'operator' | 'viewer';
      group_ids: string[];
    };
  };
}
type S = components['schemas'];
type Json<T> = { headers: { [name: string]: unknown }; content: { 'application/json': T } };
type Failure = {
  headers: { [name: string]: unknown };
  content: { 'application/problem+json': S['Problem'] };
};
type Op<Parameters, Body, Answer> = {
  parameters: Parameters;
  requestBody?: Body extends undefined ? never : { content: { 'application/json': Body } };
  responses: { 200: Json<Answer>; default: Failure };
};
type PageOf<T> = { items: T[]; next_cursor: string | null };
type PageQuery = { limit?: number; cursor?: string };
type ById = { path: { id: string }; header?: { 'If-Match'?: string; 'Idempotency-Key'?: string } };
type ByRun = { path: { run_id: string } };
type RunQuery = PageQuery & {
  script_id?: string;
  group_id?: string;
  status?: S['RunStatus'];
  trigger_type?: string;
  q?: string;
};
type LogQuery = PageQuery & { from_seq?: number; tail?: number; stream?: string; q?: string };
type NewScript = { name: string; description?: string; group_id?: string };
type RunRequest = { params?: unknown };
export interface paths {
  '/api/v1/auth/login': { post: Op<{}, { email: string; password: string }, Token> };
  '/api/v1/auth/refresh': { post: Op<{}, undefined, Token> };
  '/api/v1/auth/logout': { post: Op<{}, undefined, undefined> };
  '/api/v1/auth/me': { get: Op<{}, undefined, S['User']> };
  '/api/v1/groups': { get: Op<{ query?: PageQuery }, undefined, PageOf<S['Group']>> };
  '/api/v1/scripts': {
    get: Op<{ query?: PageQuery & { q?: string } }, undefined, PageOf<S['Script']>>;
    post: Op<{ header?: { 'Idempotency-Key'?: string } }, NewScript, S['Script']>;
  };
  '/api/v1/scripts/{id}': {
    get: Op<ById, undefined, S['Script']>;
    patch: Op<ById, Partial<S['Script']>, S['Script']>;
    delete: Op<ById, undefined, undefined>;
  };
  '/api/v1/scripts/{id}/enable': { post: Op<ById, undefined, S['Script']> };
  '/api/v1/scripts/{id}/disable': { post: Op<ById, undefined, S['Script']> };
  '/api/v1/scripts/{id}/files': { get: Op<ById, undefined, PageOf<S['FileEntry']>> };
  '/api/v1/runs/scripts/{id}/run': { post: Op<ById, RunRequest, S['Run']> };
  '/api/v1/runs/scripts/{id}/runs': {
    get: Op<ById & { query?: PageQuery }, undefined, PageOf<S['Run']>>;
  };
  '/api/v1/runs': { get: Op<{ query?: RunQuery }, undefined, PageOf<S['Run']>> };
  '/api/v1/runs/{run_id}': { get: Op<ByRun, undefined, S['Run']> };
  '/api/v1/runs/{run_id}/stop': { post: Op<ByRun, undefined, PageOf<S['Run']>> };
  '/api/v1/runs/{run_id}/rerun': { post: Op<ByRun, { version: 'same' | 'latest' }, S['Run']> };
  '/api/v1/runs/{run_id}/logs': {
    get: Op<ByRun & { query?: LogQuery }, undefined, PageOf<S['LogLine']>>;
  };
}
type Token = { access_token: string; token_type: string; expires_in: number };
