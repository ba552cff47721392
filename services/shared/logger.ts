/** Writes logs as JSON lines on standard output: a constant message and fields. */
import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

const SECRET_FIELDS = [
  'password',
  'token',
  'secret',
  'authorization',
  'cookie',
  'databaseUrl',
  'databaseAdminUrl',
  'tokenKey',
  'secretMasterKey',
];

/** The logger of a process.
 *  @param service the name in every line @param level the lowest level that is written */
export function createLogger(
  service: string,
  level: string,
  destination: DestinationStream = pino.destination({ dest: 1, sync: true }),
): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: 'message',
      errorKey: 'error',
      redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`]), censor: '***' },
    },
    destination,
  );
}
