/**
 * The generated types against those that the compiler reads off the schemas: two ways to the same type, so that a fault
 * of the generator does not compile. Nothing here runs.
 */
import type { Details, Operations } from '../../../clients/typescript/src/generated/api.ts';
import type { EventData } from '../../../clients/typescript/src/generated/events.ts';
import type { OperationId, ReplyOf, ROUTES, SentOf } from '../../../protocol/routes.ts';
import type { Details as DetailsOfSchemas } from '../../../protocol/schema/details.ts';
import type { EventData as EventDataOfSchemas } from '../../../protocol/schema/events.ts';

type Id = keyof Operations & OperationId;
type Answer<O extends Id> = Awaited<ReturnType<Operations[O]>>;
type Argument<O extends Id> = NonNullable<Parameters<Operations[O]>[0]>;
/** What is not assignable is left over by its name. */
type Unlike<T> = { [K in keyof T]: T[K] extends true ? never : K }[keyof T];
type IsBare<O extends Id> = (typeof ROUTES)[O] extends { readonly bare: string } ? true : false;
/** Read-only, and undefined beside absent, say nothing of what travels. */
type Plain<T> = T extends readonly (infer R)[]
  ? Plain<R>[]
  : T extends object
    ? { -readonly [K in keyof T]: Plain<Exclude<T[K], undefined>> }
    : T;
type Fits<From, To> = [Plain<From>] extends [Plain<To>] ? true : false;

/** Whatever the service answers, the client can say. */
type AnswersUnlike = Unlike<{ [O in Id]: IsBare<O> extends true ? true : Fits<ReplyOf<O>, Answer<O>> }>;
/** Whatever the client lets a caller say of a body or a path, the service reads. */
type Has<O extends Id, K extends 'params' | 'body'> = (typeof ROUTES)[O] extends Record<K, unknown> ? true : false;
type BodiesUnlike = Unlike<{
  [O in Id]: Has<O, 'body'> extends true
    ? Has<O, 'params'> extends true
      ? true
      : Fits<SentOf<O, 'body'>, Argument<O>>
    : true;
}>;
type DetailsUnlike = Unlike<{
  [C in keyof Details]: C extends keyof DetailsOfSchemas ? Fits<DetailsOfSchemas[C], Details[C]> : true;
}>;
type EventsUnlike = Unlike<{ [E in keyof EventData]: Fits<EventDataOfSchemas[E], EventData[E]> }>;

type Nothing<T extends never> = T;
export type Checked = [
  Nothing<AnswersUnlike>,
  Nothing<BodiesUnlike>,
  Nothing<DetailsUnlike>,
  Nothing<EventsUnlike>,
  Nothing<Exclude<keyof EventDataOfSchemas, keyof EventData>>,
];
