/** A receiver for Next.js 16: this is `app/hooks/route.mjs`. FLOCK_SECRETS: all secrets in use, apart by blanks. */
import { verifyWebhook } from 'flock-client/webhooks';
import { store } from './store.mjs';

// Not at the edge runtime: the store opens a connection to the database.
export const runtime = 'nodejs';
export const dynamic = 'force-dynamic';

export async function POST(request) {
  // The request itself: request.json() before it would leave nothing that can be verified.
  const verdict = await verifyWebhook(request, null, process.env.FLOCK_SECRETS.split(' '));
  if (!verdict.ok) return new Response(verdict.message, { status: 401 });
  // What it throws was not stored: Next.js answers 500, and the delivery is sent again.
  await store(verdict.event);
  return new Response(null, { status: 204 });
}
