/** Defines calls from scripts to the platform. Like the API operations, each call is data. */
import type { JsonValue } from '#domain/kernel/event.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type { Static, TSchema } from 'typebox';
import type { RunLog } from '../logs/run-log.ts';

/** The error codes on the channel, which never change. The Python package has an exception for each code. */
export type SdkRefusalCode =
  | 'invalid_request'
  | 'limit_reached'
  | 'not_found'
  | 'query_failed'
  | 'refused'
  | 'unavailable';

export type SdkAnswer =
  | { readonly kind: 'value'; readonly value: JsonValue }
  /** The number of bytes that follow the response. */
  | {
      readonly kind: 'bytes';
      readonly sizeBytes: number;
      readonly chunks: AsyncIterable<Uint8Array>;
    }
  | { readonly kind: 'refused'; readonly code: SdkRefusalCode; readonly message: string };

/** The context of a call from a run. */
export interface SdkContext {
  readonly run: ClaimedRun;
  readonly log: Pick<RunLog, 'mask' | 'masked' | 'maskedStart'>;
  /** Uses one unit of the run's budget for `what`, which has `most` units.
   *  @returns false if no units are left */
  readonly spend: (what: string, most: number) => boolean;
}

/** The request's bytes, which can be read only once. */
export interface SdkBody {
  readonly sizeBytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface SdkCall<Arguments extends TSchema = TSchema> {
  /** The maximum number of bytes in the request. Default: none. */
  readonly maxBodyBytes?: number;
  readonly arguments: Arguments;
  readonly handle: (
    given: Static<Arguments>,
    context: SdkContext,
    body: SdkBody,
  ) => Promise<SdkAnswer>;
}

/** All calls, by name. */
export type SdkCalls = Readonly<Record<string, SdkCall>>;

/** Whether a text contains one of the run's secrets, which the log would mask. */
export function holdsSecret({ log }: Pick<SdkContext, 'log'>, text: string): boolean {
  return log.masked(text) !== text;
}

/** Defines a call and erases its type parameters. */
export function sdkCall<const Arguments extends TSchema>(call: SdkCall<Arguments>): SdkCall {
  return call as unknown as SdkCall;
}

export function answered(value: JsonValue = null): SdkAnswer {
  return { kind: 'value', value };
}

export function refused(code: SdkRefusalCode, message: string): SdkAnswer {
  return { kind: 'refused', code, message };
}
