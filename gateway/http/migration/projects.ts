/** Projects of a migration. Spec §2.12, §3.9. */
import { capacityOf } from '../../../actors/migration/capacity.ts';
import type { Project } from '../../../model/ports/upload-store.ts';
import { refuse } from '../../../protocol/errors.ts';
import { PROJECTS_MAX } from '../../../protocol/migration/words.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, unknownIn, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, wholePage } from '../views.ts';
import { capacityView } from './detect-case.ts';
import { noted } from './noted.ts';
import { whileWiped } from './wiped.ts';

type Area = 'createMigrationProject' | 'listMigrationProjects' | 'getMigrationCapacity';

export function projectHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    stores: { uploads },
    nowMs,
  } = deps;
  return {
    async createMigrationProject(asked) {
      const wiped = await whileWiped(deps, asked);
      if (wiped !== null) return wiped;
      const project = { id: newId('mig', nowMs()), name: asked.body.name, createdAtMs: nowMs() };
      const isMade = await uploads.createProject(accountOf(asked), project, PROJECTS_MAX);
      if (!isMade) return refuse('CONFLICT', { reason: 'too_many_projects', limit: PROJECTS_MAX });
      await noted(deps, asked, project.id);
      return projectView({ ...project, state: 'draft' });
    },
    async listMigrationProjects(asked) {
      const projects = await uploads.projects(accountOf(asked));
      return wholePage('migration-projects', projects.map(projectView), asked.query, ({ id }) => id, 'newest');
    },
    async getMigrationCapacity(asked) {
      const accountId = accountOf(asked),
        { projectId } = asked.params;
      const project = await uploads.project(accountId, projectId);
      if (project === null) return unknownIn(asked, 'project', projectId);
      const batches = await deps.stores.imports.batchesOf(accountId, projectId);
      const adopting = batches.reduce((sum, batch) => sum + (batch.state === 'valid' ? batch.adopting : 0), 0);
      return capacityView(capacityOf(await stateOf(deps, accountId), adopting));
    },
  };
}

export const projectView = ({ createdAtMs, ...project }: Project): ReplyOf<'createMigrationProject'> => ({
  ...project,
  createdAt: instantOf(createdAtMs),
});
