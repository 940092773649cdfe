/** A node that is asked in this process, without a socket. */

export interface InProcessReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface InProcess {
  readonly name: string;
  /** Throws: NoAnswer where a caller over HTTP would have had none from the node itself. */
  request(call: {
    readonly method: 'GET' | 'POST';
    readonly path: string;
    readonly body?: string;
  }): Promise<InProcessReply>;
}

/** The connection failed, or what is in front of the node turned the caller away. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}
