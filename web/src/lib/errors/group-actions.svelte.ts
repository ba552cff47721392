import { queryClient } from '#lib/api/query-client.ts';
import type { ErrorGroup, ErrorGroupChange, ErrorGroupStatus } from '#lib/api/types.ts';
import { toastDone, toastError } from '#lib/ui/toasts.ts';
import { changeErrorGroup } from './api.ts';
import { statusLabel } from './labels.ts';

const weekMs = 7 * 24 * 60 * 60 * 1000;

/** Changes the status of error groups. A dialog asks for the version that resolves the error. */
export class GroupActions {
  /** The group that the user is resolving in the dialog. */
  resolving = $state.raw<ErrorGroup>();
  dialogOpen = $state(false);

  /** The menu items for the actions that apply to the group. */
  itemsOf(group: ErrorGroup): { status: ErrorGroupStatus; label: string; run: () => void }[] {
    const change = (status: ErrorGroupStatus) => () => void this.#changeOrWarn(group, { status });
    const ignoreForWeek = () => {
      const until = new Date(Date.now() + weekMs).toISOString();
      void this.#changeOrWarn(group, { status: 'ignored', ignored_until: until });
    };
    const all = [
      { status: 'resolved' as const, label: 'Resolve…', run: () => this.#ask(group) },
      { status: 'ignored' as const, label: 'Ignore', run: change('ignored') },
      { status: 'ignored' as const, label: 'Ignore for 7 days', run: ignoreForWeek },
      { status: 'open' as const, label: 'Reopen', run: change('open') },
    ];
    return all.filter(({ status }) => status !== group.status);
  }

  /** @throws ApiError if the change is refused */
  async change(group: ErrorGroup, body: ErrorGroupChange): Promise<void> {
    await changeErrorGroup(group.id, body);
    toastDone(
      body.status === 'open' ? 'Error reopened' : `Error ${statusLabel(body.status).toLowerCase()}`,
    );
    await queryClient.invalidateQueries({ queryKey: ['error-groups'] });
  }

  #ask(group: ErrorGroup): void {
    this.resolving = group;
    this.dialogOpen = true;
  }

  async #changeOrWarn(group: ErrorGroup, body: ErrorGroupChange): Promise<void> {
    try {
      await this.change(group, body);
    } catch (error) {
      toastError('Could not change the error', error);
    }
  }
}
