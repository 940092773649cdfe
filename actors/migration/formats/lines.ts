/**
 * Bytes → lines, whatever the chunks: LF, CRLF and CR end one, a byte order mark at the beginning is passed over. A
 * line that is too long or no UTF-8 is given as such, and reading goes on behind it.
 */
import { isUtf8 } from 'node:buffer';
import type { Line } from './entry.ts';
import { LINE_BYTES_MAX } from './limits.ts';

const LF = 10,
  CR = 13;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const NOTHING = Buffer.alloc(0);

export interface Lines {
  push(bytes: Uint8Array): Line[];
  /** The last line, where none ended it. */
  end(): Line[];
}

export function createLines(): Lines {
  /** Pieces of the line that is open; none are kept of one that is too long. */
  let pieces: Buffer[] = [],
    open = 0,
    number = 0,
    /** The last byte was a CR: an LF belongs to it. */
    heldBack: Omit<Line, 'end'> | null = null;

  function keep(piece: Buffer): void {
    open += piece.length;
    if (open > LINE_BYTES_MAX + BYTE_ORDER_MARK.length) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  }

  function take(): Omit<Line, 'end'> {
    let bytes = pieces.length > 1 ? Buffer.concat(pieces) : (pieces[0] ?? NOTHING),
      size = open;
    pieces = [];
    open = 0;
    number += 1;
    if (number === 1 && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) {
      bytes = bytes.subarray(BYTE_ORDER_MARK.length);
      size -= BYTE_ORDER_MARK.length;
    }
    if (size > LINE_BYTES_MAX) return { number, text: '', wrong: 'line_too_long' };
    return isUtf8(bytes)
      ? { number, text: bytes.toString('utf8'), wrong: null }
      : { number, text: '', wrong: 'encoding' };
  }

  return {
    push(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength),
        lines: Line[] = [];
      let from = 0;
      const release = (end: Line['end']): void => {
        if (heldBack !== null) lines.push({ ...heldBack, end });
        heldBack = null;
      };
      for (let at = 0; at < bytes.length; at += 1) {
        const byte = bytes[at];
        if (heldBack !== null) {
          const isPair = byte === LF && from === at;
          release(isPair ? '\r\n' : '\r');
          if (isPair) {
            from = at + 1;
            continue;
          }
        }
        if (byte !== LF && byte !== CR) continue;
        keep(bytes.subarray(from, at));
        from = at + 1;
        if (byte === CR) heldBack = take();
        else lines.push({ ...take(), end: '\n' });
      }
      // A copy: the caller may use the chunk's memory again.
      keep(Buffer.from(bytes.subarray(from)));
      return lines;
    },
    end() {
      const last: Line[] = heldBack === null ? [] : [{ ...heldBack, end: '\r' }];
      heldBack = null;
      return open === 0 ? last : [...last, { ...take(), end: '' }];
    },
  };
}
