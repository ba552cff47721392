/** Converts definitions of custom resources to schemas for kubeconform. */
import { parse } from 'yaml';

type Json = Readonly<Record<string, unknown>>;
interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: Json };
    }[];
  };
}

/** Converts the first version of a definition to a schema that permits no other fields.
 *  @param text a CustomResourceDefinition in YAML
 *  @returns the schema, and its name according to kubeconform's naming rule */
export function jsonSchemaOf(text: string): { readonly name: string; readonly schema: unknown } {
  const { group, names, versions } = (parse(text) as Definition).spec;
  const [version] = versions;
  if (version === undefined) throw new Error(`${names.kind} has no version`);
  const name = [names.kind, group.split('.')[0], version.name].join('-').toLowerCase();
  return { name, schema: closed(version.schema.openAPIV3Schema) };
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const own = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, closed(value)]),
  );
  if (own['x-kubernetes-int-or-string'] === true) return { type: ['integer', 'string'] };
  const isOpen = own['x-kubernetes-preserve-unknown-fields'] === true;
  // The metadata of every object is checked by Kubernetes' own schema.
  const hasFields = own['type'] === 'object' && typeof own['properties'] === 'object';
  return hasFields && !isOpen ? { additionalProperties: false, ...own } : own;
}
