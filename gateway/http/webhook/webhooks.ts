/** Webhook endpoints. Spec §2.7, §4.1: the secret is shown once, later reads show a preview. */
import { randomBytes } from 'node:crypto';
import { CHANGED_MEANWHILE } from '../../../actors/webhook/decide.ts';
import { webhookSecretContext } from '../../../actors/webhook/sign.ts';
import { pageAskOf, slicePage } from '../../../protocol/cursor.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { newUuid } from '../../../protocol/node/ids.ts';
import type { WebhookRow } from '../../../model/rows/webhook.ts';
import { accountOf, type Asked, claimOf, type Handlers, unknownIn } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { webhookView } from '../views.ts';
import { checkWebhookUrl } from './webhook-url.ts';

const SECRET_BYTES = 24;
const PREVIEW_CHARS = 10;
/** Others that change one endpoint's secrets at the same time; each try loses to one of them at most. */
const REPLACE_TRIES = 32;

type Area =
  | 'createWebhook'
  | 'listWebhooks'
  | 'getWebhook'
  | 'replaceWebhook'
  | 'deleteWebhook'
  | 'rotateWebhookSecret'
  | 'dropPreviousWebhookSecret';

export function webhookHandlers({ accounts, secrets, stores: { reads }, nowMs }: HandlerDeps): Pick<Handlers, Area> {
  const newSecret = (webhookId: string) => {
    const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    return {
      secret,
      sealed: secrets.seal(secret, webhookSecretContext(webhookId)),
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
  /** Changes an endpoint from its current row; again, where its secrets changed between the look and the decision. */
  const replace = async (asked: Asked<'getWebhook'>, change: (known: WebhookRow) => WebhookRow | Refusal) => {
    for (let tries = 1; ; tries += 1) {
      const known = await find(asked);
      const row = known === null ? unknownIn(asked, 'webhook', asked.params.webhookId) : change(known);
      if (known === null || isRefusal(row)) return row as Refusal;
      const answer = await accounts.ask(accountOf(asked), {
        type: 'replace_webhook',
        known,
        row: { ...row, updatedAtMs: nowMs() },
        ...claimOf(asked),
      });
      if (answer.ok === true) return webhookView(answer.reply);
      if (!isRefusal(answer) || answer.details['reason'] !== CHANGED_MEANWHILE || tries === REPLACE_TRIES)
        return answer;
    }
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
          id,
          accountId,
          url,
          events,
          sealedSecrets: [sealed],
          secretPreview,
          status: 'enabled',
          createdAtMs: nowMs(),
          updatedAtMs: nowMs(),
        };
        const answer = await accounts.ask(accountId, { type: 'create_webhook', row, ...claimOf(asked) });
        return answer.ok === true ? { ...webhookView(answer.reply), secret } : answer;
      },
    },
    async listWebhooks(asked) {
      const rows = await reads.webhooks(accountOf(asked));
      const page = pageAskOf('webhooks', asked.query);
      if (isRefusal(page)) return page;
      return slicePage(
        'webhooks',
        rows.filter(({ status }) => status !== 'deleted').map(webhookView),
        page,
        ({ id, createdAt }) => `${createdAt} ${id}`,
        'newest',
      );
    },
    async getWebhook(asked) {
      const row = await find(asked);
      return row === null ? unknownIn(asked, 'webhook', asked.params.webhookId) : webhookView(row);
    },
    replaceWebhook: {
      replay,
      async handle(asked) {
        const { url, events } = asked.body;
        const wrong = checkWebhookUrl(url, asked.caller.environment);
        if (wrong !== null) return wrong;
        return replace(asked as Asked<never>, (known) => ({ ...known, url, events, status: 'enabled' }));
      },
    },
    deleteWebhook: {
      replay,
      async handle(asked) {
        const known = await find(asked as Asked<never>);
        if (known === null) return unknownIn(asked, 'webhook', asked.params.webhookId);
        const answer = await accounts.ask(accountOf(asked), { type: 'delete_webhook', known, ...claimOf(asked) });
        return answer.ok === true ? webhookView(answer.reply) : answer;
      },
    },
    rotateWebhookSecret: {
      replay: replayWithSecret,
      async handle(asked) {
        const { secret, sealed, secretPreview } = newSecret((asked as Asked<'rotateWebhookSecret'>).params.webhookId);
        const view = await replace(asked as Asked<never>, (known) => ({
          ...known,
          sealedSecrets: [sealed, ...known.sealedSecrets.slice(0, 1)],
          secretPreview,
        }));
        return 'ok' in view ? view : { ...view, secret };
      },
    },
    dropPreviousWebhookSecret: {
      replay,
      async handle(asked) {
        return replace(asked as Asked<never>, (known) =>
          known.sealedSecrets.length < 2
            ? refuse('CONFLICT', { reason: 'no rotation is under way' })
            : { ...known, sealedSecrets: known.sealedSecrets.slice(0, 1) },
        );
      },
    },
  };
}
