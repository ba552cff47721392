/** The common interface of the resource kinds in a configuration. */
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
/** The name of a resource list in the document. */
export type Section = Exclude<keyof Document, 'format' | 'format_version' | 'retention'>;
export type Given<Name extends Section> = NonNullable<Document[Name]>[number];

/** The fields of a resource in a document. */
export interface Item {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Stores content before the commands that refer to it are executed. A dry run stores nothing. */
export interface Keeping {
  /** @returns the SHA-256 of the parameters; `null` if there are none */
  payload(params: object | null): Promise<string | null>;
  file(scriptId: string, sha256: string, content: Uint8Array): Promise<void>;
  channel(channelId: string, secrets: ChannelSecrets): Promise<Sealed | null>;
  credential(secretStoreId: string, credential: string): Promise<Sealed | null>;
  /** @returns the stored signing secret of the webhook; `undefined` in a dry run */
  signing(webhookId: string, version: number, secret: string): Promise<WebhookSigning | undefined>;
  /** Adds a secret that only this response shows. */
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

/** A resource as the document defines it. */
export interface Wanted {
  /** Omitted fields have their current values, or the default values in a new resource. */
  readonly item: Item;
  readonly note?: string;
  /** Names of secrets that have no value yet. */
  readonly missing?: readonly string[];
  /** Returns the commands that change or create the resource. */
  readonly commands: (keeping: Keeping) => Promise<readonly Command[]>;
}

/** An existing resource. */
export interface Present<Entry> {
  readonly item: Item;
  /** Whether the resource or its owner is deleted. Exports omit hidden resources. Imports can restore hidden
   *  resources. */
  readonly hidden: boolean;
  /** The reason why the resource cannot be deleted; absent if it can be deleted. */
  readonly kept?: string;
  readonly change: (given: Entry) => Promise<Wanted | Problem>;
  readonly remove: () => Command;
}

/** The context for reading a document. */
export interface Reading {
  readonly services: Services;
  /** Whether to delete files that the document omits. */
  readonly prune: boolean;
  /** The parameter schema of a script, as in the document. */
  readonly schemaOf: (scriptId: string) => ParametersSchema | null;
}

/** A section of the document. */
export interface Kind<Name extends Section = Section> {
  readonly kind: ItemKind;
  readonly section: Name;
  /** Prefix of the stream IDs. */
  readonly stream: string;
  /** All existing resources, of all groups. */
  readonly present: (reading: Reading) => Promise<readonly Present<Given<Name>>[]>;
  /** Reads a new resource. */
  readonly make: (given: Given<Name>, reading: Reading) => Promise<Wanted | Problem>;
}
