import { v5, v7 } from 'uuid';
import type { Ids } from '#domain/ports/ids.ts';

// The platform's own UUID namespace, for causes that are not UUIDs.
const platformNamespace = 'a7f0b1f6-6a6c-5d1e-9a35-0f1b8a4f3c52';

/** Generates UUIDs according to RFC 9562. */
export const systemIds: Ids = {
  next: () => v7(),
  derived: (cause, name) => v5(`${cause}\n${name}`, platformNamespace),
};
