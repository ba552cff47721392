/** Headers that every answer carries. */
import type { ServerResponse } from 'node:http';

// Everything comes from here; styles of single elements are set by the pages' own code.
export const contentSecurityPolicy = [
  "default-src 'self'",
  // The editor's formatter is WebAssembly, which may compute and nothing else; code made of text stays refused.
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Those of every answer. */
export const securityHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/** @param secure whether the client came over HTTPS, which it is then told to keep to */
export function setSecurityHeaders(response: ServerResponse, secure: boolean): void {
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  if (secure) response.setHeader('Strict-Transport-Security', 'max-age=31536000');
}
