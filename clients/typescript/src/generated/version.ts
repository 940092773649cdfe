// Made by `npm run -s clients`: changes are lost.
export const VERSION = '1.0.0';
