import type { Recorded } from '#domain/aggregates.ts';
import type { TokenEvent } from '#domain/token/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { tokenColumns, type TokensTable } from './table.ts';

/** Builds the API tokens. Every request checks against these rows whether its token is valid. */
export const tokensProjection: Projection = rowProjection<TokensTable, Recorded<TokenEvent>>({
  name: 'tokens',
  version: 1,
  table: 'api_tokens',
  key: 'token_id',
  columns: tokenColumns,
  handles: ['TokenIssued', 'TokenRevoked'],
  kept: ['last_used_at'],
  keyOf: (event) => event.data.tokenId,
  step: (row, event) => {
    switch (event.type) {
      case 'TokenIssued':
        return {
          token_id: event.data.tokenId,
          user_id: event.data.userId,
          name: event.data.name,
          scopes: event.data.scopes,
          token_hash: event.data.tokenHash,
          created_at: event.recordedAt,
          expires_at: event.data.expiresAt === null ? null : new Date(event.data.expiresAt),
          revoked_at: null,
        };
      case 'TokenRevoked':
        return row && { ...row, revoked_at: event.recordedAt };
    }
  },
});
