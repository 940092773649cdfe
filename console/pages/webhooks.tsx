/** Where events go, and what became of each. */
import '../ui/together.ts';
export { Webhooks } from './webhook-list.tsx';
export { WebhookDetail } from './webhook-detail.tsx';
export { DeadLetters, Deliveries } from './deliveries.tsx';
export { EventDetail } from './event-detail.tsx';
export { SignatureCheck } from './signature-check.tsx';
