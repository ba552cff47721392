/** The emulated Redis version, which client libraries check before they use newer commands. */
export const redisVersion = '7.2.0';
