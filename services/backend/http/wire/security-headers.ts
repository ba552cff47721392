/** The security headers of every response. */
import type { ServerResponse } from 'node:http';

// Permits only local resources. Inline styles are permitted, because the pages' own code sets them.
export const contentSecurityPolicy = [
  "default-src 'self'",
  // Permits WebAssembly for the editor's formatter, but not `eval`.
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers that do not depend on the request. */
export const securityHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/** @param secure whether the client uses HTTPS; if so, `Strict-Transport-Security` is set */
export function setSecurityHeaders(response: ServerResponse, secure: boolean): void {
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  if (secure) response.setHeader('Strict-Transport-Security', 'max-age=31536000');
}
