/** What a script may ask of the platform while it runs: each call is data, as the API's operations are. */
import type { JsonValue } from '#domain/kernel/event.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type { Static, TSchema } from 'typebox';
import type { RunLog } from '../logs/run-log.ts';

/** Stable codes on the channel; the Python package has an exception for each. */
export type SdkRefusalCode =
  | 'invalid_request'
  | 'limit_reached'
  | 'not_found'
  | 'query_failed'
  | 'refused'
  | 'unavailable';

export type SdkAnswer =
  | { readonly kind: 'value'; readonly value: JsonValue }
  /** So many bytes follow the answer. */
  | {
      readonly kind: 'bytes';
      readonly sizeBytes: number;
      readonly chunks: AsyncIterable<Uint8Array>;
    }
  | { readonly kind: 'refused'; readonly code: SdkRefusalCode; readonly message: string };

/** Who asks. */
export interface SdkContext {
  readonly run: ClaimedRun;
  readonly log: Pick<RunLog, 'mask' | 'masked'>;
  /** Takes one of what the run may have `most` of. @returns false when it has had them */
  readonly spend: (what: string, most: number) => boolean;
}

/** The bytes that came with a request, read once. */
export interface SdkBody {
  readonly sizeBytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface SdkCall<Arguments extends TSchema = TSchema> {
  /** Bytes that may come with the request. Default: none. */
  readonly maxBodyBytes?: number;
  readonly arguments: Arguments;
  readonly handle: (
    given: Static<Arguments>,
    context: SdkContext,
    body: SdkBody,
  ) => Promise<SdkAnswer>;
}

/** By name. */
export type SdkCalls = Readonly<Record<string, SdkCall>>;

/** Whether a text holds a secret that the run has, in a form that its log would mask. */
export function holdsSecret({ log }: Pick<SdkContext, 'log'>, text: string): boolean {
  return log.masked(text) !== text;
}

/** A call whose types have done their work. */
export function sdkCall<const Arguments extends TSchema>(call: SdkCall<Arguments>): SdkCall {
  return call as unknown as SdkCall;
}

export function answered(value: JsonValue = null): SdkAnswer {
  return { kind: 'value', value };
}

export function refused(code: SdkRefusalCode, message: string): SdkAnswer {
  return { kind: 'refused', code, message };
}
