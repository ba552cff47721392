import type { TokenIssued, TokenRevoked } from './events.ts';

export type IssueToken = TokenIssued['data'] & { readonly type: 'IssueToken' };
export type RevokeToken = TokenRevoked['data'] & { readonly type: 'RevokeToken' };

export type TokenCommand = IssueToken | RevokeToken;
