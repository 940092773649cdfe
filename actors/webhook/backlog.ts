/** What waits for endpoints that were stopped or got another secret. */

/** Pages of one round. */
const PAGES_MAX = 200;

/** Pages of endpoints' backlogs, until there is none or the rest is locked. */
export async function workBacklogs({
  deliveries,
}: {
  readonly deliveries: { workBacklog(): Promise<number | null> };
}): Promise<void> {
  for (let page = 0; page < PAGES_MAX; page += 1) {
    if (!((await deliveries.workBacklog()) ?? 0)) return;
  }
}
