/** Whether a mail server takes our sign-in; no letter is sent. */
import { createTransport } from 'nodemailer';

/** Throws: an error of the connection or of the server, with its code. */
export async function greetMailServer(url: string, timeoutMs: number): Promise<void> {
  const limits = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  const transport = createTransport({ url, ...limits });
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}
