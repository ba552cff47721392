/** The entry point for every change. Executes commands and returns the recorded events. */
import type { Command, Recorded } from '#domain/aggregates.ts';
import type { Refusal } from '#domain/kernel/decision.ts';
import type { Actor } from '#domain/kernel/actor.ts';
import type { EventMetadata, Position } from '#domain/kernel/event.ts';
import { mustParse, parseCommandId } from '#domain/kernel/ids.ts';

/** The caller and the cause of a command. */
export interface CommandContext extends EventMetadata {
  /** Set if the caller chose `commandId`, as clients do with idempotency keys. A command with a fingerprint is
   *  executed only once, and its repetitions must have the same fingerprint. */
  readonly fingerprint?: string;
}

/** Returns the context for a command from a platform component, such as the scheduler. */
export function systemContext(
  name: Extract<Actor, { kind: 'system' }>['name'],
  commandId: string,
  correlationId: string = commandId,
): CommandContext {
  return {
    commandId: mustParse(parseCommandId, commandId),
    actor: { kind: 'system', name },
    ip: null,
    correlationId,
    causationId: null,
  };
}

export type Outcome =
  | {
      readonly kind: 'accepted';
      /** Empty if the command had no effect. */
      readonly events: readonly Recorded[];
      /** The stream that the command wrote to, and the version of that stream afterwards. */
      readonly streamId: string;
      readonly version: number;
      /** A reader that has reached this position sees the effect of the command. */
      readonly position: Position;
      /** Whether the command had already been executed. The result is then the original result. */
      readonly repeated: boolean;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The command ID was already used with another fingerprint. */
  | { readonly kind: 'mismatched' };

/** A command and its context. */
export interface CommandRequest {
  readonly command: Command;
  readonly context: CommandContext;
  /** The content that the command refers to by its SHA-256. The content is stored if the command is accepted. A
   *  run's error is stored only if the command ends the run. */
  readonly content?: Uint8Array | undefined;
}

export type OutcomeOfAll =
  | {
      readonly kind: 'accepted';
      /** The result of each command, in order. */
      readonly outcomes: readonly Extract<Outcome, { kind: 'accepted' }>[];
    }
  | {
      readonly kind: 'refused';
      /** Index of the refused command, starting at 0. */
      readonly index: number;
      readonly refusal: Refusal;
    };

export interface Commands {
  /** Decides a command and records its events atomically. The inline projections are up to date when the promise
   *  resolves.
   *  @param content see `CommandRequest` */
  execute(command: Command, context: CommandContext, content?: Uint8Array): Promise<Outcome>;

  /** Executes either all commands or none. Each command sees the effects of the previous commands. A refusal rolls
   *  back all commands. Other readers never see a part of the batch. The commands have no fingerprints.
   *  @param tryOnly whether to return the results without recording anything */
  executeAll(
    requests: readonly CommandRequest[],
    options?: { readonly tryOnly?: boolean },
  ): Promise<OutcomeOfAll>;

  /** Returns the refusal that `execute` would currently return. Records nothing. */
  check(command: Command): Promise<Refusal | undefined>;
}
