/** Writes logs to standard output as JSON lines. Each line has a constant message and additional fields. */
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
 *  @param service the service name in every line
 *  @param level the lowest level to write */
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
