/**
 * JSON as it comes over the wire, read in one way by cloud and edge: what one of them reads and the other does not is a
 * difference that neither meant. A byte order mark in front says nothing (RFC 8259, 8.1); what is no UTF-8 is no JSON.
 */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Throws: TypeError for what is no UTF-8, SyntaxError for what is no JSON. */
export function parsedBody(body: Uint8Array): unknown {
  return JSON.parse(UTF8.decode(body));
}
