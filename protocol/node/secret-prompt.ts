/**
 * Secrets from a person or a pipe: on a terminal they are asked for without echo, else each is the next line of
 * standard input. They are kept in buffers that are zero after use; an argument would stand in the process list.
 */
import type { ReadStream } from 'node:tty';

const LINE_BYTES_MAX = 4_096;
const INTERRUPT = 0x03,
  END = 0x04,
  BACKSPACE = 0x08,
  DELETE = 0x7f,
  NEWLINE = 0x0a,
  RETURN = 0x0d;

export interface SecretPrompt {
  /** The next secret without its line break; the caller zeroes it. Throws: PromptEnded. */
  ask(question: string): Promise<Buffer>;
  /** Whether a person is there. */
  readonly interactive: boolean;
  close(): void;
}

/** Standard input ended, was interrupted, or sent a line that is too long. */
export class PromptEnded extends Error {
  /** There is no further line. */
  readonly isEnd: boolean;
  constructor(reason: string, isEnd = false) {
    super(reason);
    this.name = 'PromptEnded';
    this.isEnd = isEnd;
  }
}

type Input = NodeJS.ReadableStream & Partial<Pick<ReadStream, 'isTTY' | 'setRawMode' | 'pause' | 'unref'>>;

export function createSecretPrompt(input: Input, output: { write(text: string): unknown }): SecretPrompt {
  const interactive = input.isTTY === true;
  const chunks = input[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let rest = Buffer.alloc(0);
  const nextByte = async (): Promise<number | null> => {
    while (rest.length === 0) {
      const chunk = await chunks.next();
      if (chunk.done === true) return null;
      rest = Buffer.from(chunk.value);
      chunk.value.fill(0);
    }
    const byte = rest[0]!;
    rest[0] = 0;
    rest = rest.subarray(1);
    return byte;
  };
  return {
    interactive,
    async ask(question) {
      if (interactive) {
        // Before the question, and until the end: what is typed ahead is not echoed either.
        input.setRawMode?.(true);
        output.write(question);
      }
      const line = Buffer.alloc(LINE_BYTES_MAX);
      try {
        return await readLine(line, nextByte, interactive);
      } finally {
        line.fill(0);
        if (interactive) output.write('\n');
      }
    },
    close() {
      rest.fill(0);
      if (interactive) input.setRawMode?.(false);
      void chunks.return?.();
    },
  };
}

/** Bytes up to the end of the line, as a buffer of their own; `line` is the caller's scratch. */
async function readLine(line: Buffer, nextByte: () => Promise<number | null>, interactive: boolean): Promise<Buffer> {
  let length = 0;
  for (;;) {
    const byte = await nextByte();
    if (byte === null || (interactive && byte === END)) {
      if (length === 0) throw new PromptEnded('standard input ended before the secret', true);
      return Buffer.from(line.subarray(0, length));
    }
    if (interactive && byte === INTERRUPT) throw new PromptEnded('interrupted');
    if (byte === NEWLINE || (interactive && byte === RETURN))
      return Buffer.from(line.subarray(0, line[length - 1] === RETURN ? length - 1 : length));
    if (interactive && (byte === BACKSPACE || byte === DELETE)) length = withoutLast(line, length);
    else if (length === line.length) throw new PromptEnded('the line is too long');
    else line[length++] = byte;
  }
}

/** Length without the last character, which is several bytes long in UTF-8 where its bytes begin with 10. */
function withoutLast(line: Buffer, length: number): number {
  let at = length - 1;
  while (at > 0 && (line[at]! & 0xc0) === 0x80) at -= 1;
  return Math.max(0, at);
}
