/** The mail of a node: a supervised worker that empties the outbox, when there is a way out of it. */
import type { Logger } from 'pino';
import type { ActorSystem } from '../actors/kernel/index.ts';
import { sendDueMail, type MailSenderDeps } from '../gateway/mail/sender.ts';
import { directoryTransport, smtpTransport, type MailTransport } from '../gateway/mail/transports.ts';
import type { SecretBox } from '../model/ports/secret-box.ts';
import type { Stores } from '../persistence/postgres/stores.ts';
import type { CloudConfig } from './config.ts';

/** Pause between two looks at the outbox. */
const LOOK_MS = 500;

type MailConfig = Pick<CloudConfig, 'SMTP_URL' | 'MAIL_DIR' | 'MAIL_FROM' | 'PAY_URL'>;

export interface MailParts {
  readonly config: MailConfig;
  readonly publicUrl: string;
  readonly system: Pick<ActorSystem, 'spawnWorker'>;
  readonly stores: Pick<Stores, 'mail' | 'invoices'>;
  readonly secrets: SecretBox;
  readonly metrics: MailSenderDeps['metrics'];
  readonly nowMs: () => number;
  readonly log: Logger;
}

function transportOf({ SMTP_URL: url, MAIL_DIR: directory, MAIL_FROM: from }: MailConfig): MailTransport | null {
  if (url !== undefined) return smtpTransport(url, from);
  return directory === undefined ? null : directoryTransport(directory, from);
}

/** Starts sending; the answer closes the transport. Without one mail waits in the outbox. */
export function startMail({ config, publicUrl, system, stores, secrets, metrics, nowMs, log }: MailParts): () => void {
  const transport = transportOf(config);
  if (transport === null) return () => undefined;
  const invoices = { mint: stores.invoices.mint, payUrl: config.PAY_URL ?? publicUrl };
  system.spawnWorker<'look'>({
    path: 'schedules/mail',
    recover: ({ timers, sendSelf }) => void timers.after(0, () => sendSelf('look')),
    receive: async (look, { timers, sendSelf }) => {
      await sendDueMail({ store: stores.mail, invoices, transport, secrets, publicUrl, metrics, nowMs, log });
      timers.after(LOOK_MS, () => sendSelf(look));
    },
  });
  return () => transport.close();
}
