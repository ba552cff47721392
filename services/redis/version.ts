/** The Redis whose commands are served, for client libraries that ask before they use what is newer. */
export const redisVersion = '7.2.0';
