/** What the kinds of things in a configuration have in common. */
import type { Command } from '#domain/aggregates.ts';
import type { ParametersSchema } from '#domain/script/settings.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type { WebhookSigning } from '#domain/webhook/webhook.ts';
import type { ChannelSecrets } from '#services/shared/channel-secrets.ts';
import type { Static } from 'typebox';
import type { Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import type { Configuration, configurationKinds } from './schema.ts';

export type Document = Static<typeof Configuration>;
export type ItemKind = (typeof configurationKinds)[number];
/** A part of the document that is a list. */
export type Section = Exclude<keyof Document, 'format' | 'format_version' | 'retention'>;
export type Given<Name extends Section> = NonNullable<Document[Name]>[number];

/** Fields as a document shows them. */
export interface Item {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Where what commands refer to goes before they are carried out. A trial keeps nothing. */
export interface Keeping {
  /** @returns the SHA-256 of parameters; `null` for none */
  payload(params: object | null): Promise<string | null>;
  file(scriptId: string, sha256: string, content: Uint8Array): Promise<void>;
  channel(channelId: string, secrets: ChannelSecrets): Promise<Sealed | null>;
  /** @returns what the webhook is given; nothing in a trial */
  signing(webhookId: string, version: number, secret: string): Promise<WebhookSigning | undefined>;
  /** Notes what whoever asked is told once. */
  show(one: ShownOnce): void;
}

export interface ShownOnce {
  readonly kind: 'webhook' | 'channel';
  readonly id: string;
  readonly name: string;
  readonly token?: string;
  readonly url?: string;
  readonly signing_secret?: string;
}

/** A thing as the document wants it. */
export interface Wanted {
  /** With what the document leaves out as it is, or as it usually is. */
  readonly item: Item;
  readonly note?: string;
  /** Names of secrets that have no value here. */
  readonly missing?: readonly string[];
  /** What has to be done where it differs from what is there. */
  readonly commands: (keeping: Keeping) => Promise<readonly Command[]>;
}

/** A thing that is there. */
export interface Present<Entry> {
  readonly item: Item;
  /** It is deleted, or belongs to something that is: no part of an export, but a document brings it back. */
  readonly hidden: boolean;
  /** Why it cannot be deleted, where it cannot. */
  readonly kept?: string;
  readonly change: (given: Entry) => Promise<Wanted | Problem>;
  readonly remove: () => Command;
}

/** What reading a document asks of its surroundings. */
export interface Reading {
  readonly services: Services;
  /** Files that the document leaves out are to go. */
  readonly prune: boolean;
  /** Schema of the parameters that a script takes, as the document leaves it. */
  readonly schemaOf: (scriptId: string) => ParametersSchema | null;
}

/** One section of the document. */
export interface Kind<Name extends Section = Section> {
  readonly kind: ItemKind;
  readonly section: Name;
  /** Prefix of the streams. */
  readonly stream: string;
  /** All there are, of every group. */
  readonly present: (reading: Reading) => Promise<readonly Present<Given<Name>>[]>;
  /** A thing that is not there yet. */
  readonly make: (given: Given<Name>, reading: Reading) => Promise<Wanted | Problem>;
}
