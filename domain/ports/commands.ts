/** The one way in for every change: a command goes in, events come out. */
import type { Command, Recorded } from '#domain/aggregates.ts';
import type { Refusal } from '#domain/kernel/decision.ts';
import type { EventMetadata, Position } from '#domain/kernel/event.ts';

/** Who asks, and as part of what. */
export interface CommandContext extends EventMetadata {
  /** Where set, `commandId` was chosen by the caller (a client's key, a reaction): the command is
   *  carried out once, and a repeated one must carry the same fingerprint. */
  readonly fingerprint?: string;
}

export type Outcome =
  | {
      readonly kind: 'accepted';
      /** Empty where there was nothing to do. */
      readonly events: readonly Recorded[];
      /** The stream that was written, and its version now. */
      readonly streamId: string;
      readonly version: number;
      /** Where a reader must have got to in order to see the effect. */
      readonly position: Position;
      /** The command had been carried out before; this is that answer. */
      readonly repeated: boolean;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The command id was used before with another fingerprint. */
  | { readonly kind: 'mismatched' };

/** A command with who asks for it. */
export interface CommandRequest {
  readonly command: Command;
  readonly context: CommandContext;
  /** What the command names by its SHA-256: kept if the command is accepted. */
  readonly content?: Uint8Array | undefined;
}

export type OutcomeOfAll =
  | {
      readonly kind: 'accepted';
      /** One for each command, in order. */
      readonly outcomes: readonly Extract<Outcome, { kind: 'accepted' }>[];
    }
  | {
      readonly kind: 'refused';
      /** Which command was refused, from 0. */
      readonly index: number;
      readonly refusal: Refusal;
    };

export interface Commands {
  /** Decides and records, all or nothing. Read models of the core are current when it resolves.
   *  @param content what the command names by its SHA-256: kept if the command is accepted */
  execute(command: Command, context: CommandContext, content?: Uint8Array): Promise<Outcome>;

  /** Carries out all of them or none: each sees what those before it did, and the first that is refused
   *  undoes them all. Nobody sees some of them alone. None has a fingerprint.
   *  @param tryOnly nothing is recorded in any case: it tells what would become of them */
  executeAll(
    requests: readonly CommandRequest[],
    options?: { readonly tryOnly?: boolean },
  ): Promise<OutcomeOfAll>;

  /** What `execute` would refuse right now; records nothing. */
  check(command: Command): Promise<Refusal | undefined>;
}
