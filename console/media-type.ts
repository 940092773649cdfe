/** What the console's files are, by their endings. */
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The media type of a file of the console. */
export const mediaTypeOf = (name: string): string => TYPES[name.slice(name.lastIndexOf('.') + 1)]!;
