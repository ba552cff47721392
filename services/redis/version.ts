/** The emulated Redis version. Client libraries check it before they use newer commands. */
export const redisVersion = '7.2.0';
