/** A story over the real functions: in a database of its own, on the PostgreSQL of the test run. */
import { createTestDatabase } from '../support/postgres.ts';
import { prepareSql } from './sql-schema.ts';
import { runStory, type Story, type StoryOptions } from './story.ts';
import { seedOf } from './world.ts';

export interface SqlStoryOptions extends Omit<StoryOptions, 'sql'> {
  /** Faulty functions in the place of the real ones. */
  readonly planted?: string;
  /** The publisher's clock decides what is due. */
  readonly callersClock?: boolean;
}

export async function tellSqlStory({ planted, callersClock, ...options }: SqlStoryOptions): Promise<Story> {
  const database = await createTestDatabase();
  try {
    const neighbour = await prepareSql(database, seedOf(), planted);
    return await runStory({
      ...options,
      sql: { database, neighbour, ...(callersClock === undefined ? {} : { callersClock }) },
    });
  } finally {
    await database.close();
  }
}
