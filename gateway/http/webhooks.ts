/** Webhook endpoints. Spec §2.7, §4.1: the secret is shown once, later reads show a preview. */
import { randomBytes } from 'node:crypto';
import { webhookSecretContext } from '../../actors/webhook/sign.ts';
import { refuse } from '../../protocol/errors.ts';
import { newUuid } from '../../protocol/ids.ts';
import type { WebhookRow } from '../../persistence/rows.ts';
import { accountOf, claimOf, type Asked, type Handlers } from './context.ts';
import type { HandlerDeps } from './handlers.ts';
import { slicePage, webhookView } from './views.ts';
import { checkWebhookUrl } from './webhook-url.ts';

const SECRET_BYTES = 24;
const PREVIEW_CHARS = 10;

type Area =
  | 'createWebhook' | 'listWebhooks' | 'getWebhook' | 'replaceWebhook' | 'deleteWebhook'
  | 'rotateWebhookSecret' | 'dropPreviousWebhookSecret';

export function webhookHandlers({ accounts, secrets, stores: { reads }, nowMs }: HandlerDeps): Pick<Handlers, Area> {
  const newSecret = (webhookId: string) => {
    const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    return {
      secret, sealed: secrets.seal(secret, webhookSecretContext(webhookId)),
      secretPreview: `${secret.slice(0, PREVIEW_CHARS)}…`,
    };
  };
  const replay = async (stored: unknown) => webhookView(stored as WebhookRow);
  /** The answer that showed the secret shows it again: it is the first answer. */
  const replayWithSecret = async (stored: unknown) => {
    const row = stored as WebhookRow;
    return { ...webhookView(row), secret: secrets.open(row.sealedSecrets[0]!, webhookSecretContext(row.id)) };
  };
  const find = async (asked: Asked<'getWebhook'>): Promise<WebhookRow | null> => {
    const row = await reads.webhook(accountOf(asked), asked.params.webhookId);
    return row === null || row.status === 'deleted' ? null : row;
  };
  const replace = async (asked: Asked<'getWebhook'>, row: WebhookRow) => {
    const answer = await accounts.ask(
      accountOf(asked), { type: 'replace_webhook', row: { ...row, updatedAtMs: nowMs() }, ...claimOf(asked) },
    );
    return answer.ok === true ? webhookView(answer.reply) : answer;
  };

  return {
    createWebhook: {
      replay: replayWithSecret,
      async handle(asked) {
        const accountId = accountOf(asked);
        const { url, events } = asked.body;
        const wrong = checkWebhookUrl(url, asked.caller.environment);
        if (wrong !== null) return wrong;
        const id = newUuid(nowMs());
        const { secret, sealed, secretPreview } = newSecret(id);
        const row: WebhookRow = {
          id, accountId, url, events, sealedSecrets: [sealed], secretPreview, status: 'enabled',
          createdAtMs: nowMs(), updatedAtMs: nowMs(),
        };
        const answer = await accounts.ask(accountId, { type: 'create_webhook', row, ...claimOf(asked) });
        return answer.ok === true ? { ...webhookView(answer.reply), secret } : answer;
      },
    },
    async listWebhooks(asked) {
      const rows = await reads.webhooks(accountOf(asked));
      return slicePage(rows.filter(({ status }) => status !== 'deleted').map(webhookView), asked.query);
    },
    async getWebhook(asked) {
      const row = await find(asked);
      return row === null ? refuse('NOT_FOUND') : webhookView(row);
    },
    replaceWebhook: {
      replay,
      async handle(asked) {
        const { url, events } = asked.body;
        const wrong = checkWebhookUrl(url, asked.caller.environment);
        if (wrong !== null) return wrong;
        const row = await find(asked as Asked<never>);
        return row === null
          ? refuse('NOT_FOUND')
          : replace(asked as Asked<never>, { ...row, url, events, status: 'enabled' });
      },
    },
    deleteWebhook: {
      replay,
      async handle(asked) {
        const known = await find(asked as Asked<never>);
        if (known === null) return refuse('NOT_FOUND');
        const answer = await accounts.ask(accountOf(asked), { type: 'delete_webhook', known, ...claimOf(asked) });
        return answer.ok === true ? webhookView(answer.reply) : answer;
      },
    },
    rotateWebhookSecret: {
      replay: replayWithSecret,
      async handle(asked) {
        const row = await find(asked as Asked<never>);
        if (row === null) return refuse('NOT_FOUND');
        const { secret, sealed, secretPreview } = newSecret(row.id);
        const view = await replace(
          asked as Asked<never>, { ...row, sealedSecrets: [sealed, ...row.sealedSecrets.slice(0, 1)], secretPreview },
        );
        return 'ok' in view ? view : { ...view, secret };
      },
    },
    dropPreviousWebhookSecret: {
      replay,
      async handle(asked) {
        const row = await find(asked as Asked<never>);
        if (row === null) return refuse('NOT_FOUND');
        if (row.sealedSecrets.length < 2) return refuse('CONFLICT', { reason: 'no rotation is under way' });
        return replace(asked as Asked<never>, { ...row, sealedSecrets: row.sealedSecrets.slice(0, 1) });
      },
    },
  };
}
