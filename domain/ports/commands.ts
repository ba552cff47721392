/** The entry point for every change: takes commands and returns the recorded events. */
import type { Command, Recorded } from '#domain/aggregates.ts';
import type { Refusal } from '#domain/kernel/decision.ts';
import type { Actor } from '#domain/kernel/actor.ts';
import type { EventMetadata, Position } from '#domain/kernel/event.ts';
import { mustParse, parseCommandId } from '#domain/kernel/ids.ts';

/** The caller of a command and its cause. */
export interface CommandContext extends EventMetadata {
  /** Set if the caller chose `commandId` (an idempotency key of a client, or a reaction). The command is executed
   *  once. A repeated command must have the same fingerprint. */
  readonly fingerprint?: string;
}

/** The context of a command from a component of the platform, such as the scheduler. */
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
      /** Empty if the command changed nothing. */
      readonly events: readonly Recorded[];
      /** The stream that was written, with its new version. */
      readonly streamId: string;
      readonly version: number;
      /** The position that a reader must have reached to see the effect. */
      readonly position: Position;
      /** Whether the command was executed before. The result is then the original result. */
      readonly repeated: boolean;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The command ID was used before with another fingerprint. */
  | { readonly kind: 'mismatched' };

/** A command with its caller. */
export interface CommandRequest {
  readonly command: Command;
  readonly context: CommandContext;
  /** The content that the command refers to by SHA-256. Stored if the command is accepted. The error of a run is stored
   *  only if the command ends the run. */
  readonly content?: Uint8Array | undefined;
}

export type OutcomeOfAll =
  | {
      readonly kind: 'accepted';
      /** One result per command, in order. */
      readonly outcomes: readonly Extract<Outcome, { kind: 'accepted' }>[];
    }
  | {
      readonly kind: 'refused';
      /** Index of the refused command, from 0. */
      readonly index: number;
      readonly refusal: Refusal;
    };

export interface Commands {
  /** Decides and records atomically. The synchronous read models are current when the promise resolves.
   *  @param content as in `CommandRequest` */
  execute(command: Command, context: CommandContext, content?: Uint8Array): Promise<Outcome>;

  /** Executes all commands or none. Each command sees the effects of the previous ones. The first refusal rolls
   *  back all of them. Other readers never see a part of the batch. The commands have no fingerprints.
   *  @param tryOnly records nothing and returns the results that the commands would have */
  executeAll(
    requests: readonly CommandRequest[],
    options?: { readonly tryOnly?: boolean },
  ): Promise<OutcomeOfAll>;

  /** The refusal that `execute` would currently return; records nothing. */
  check(command: Command): Promise<Refusal | undefined>;
}
