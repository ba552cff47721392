import type { NotificationDelivery } from '#lib/api/types.ts';
import { requireRight } from '#lib/session/require-right.ts';
import type { PageLoad } from './$types';

interface Filter {
  channel_id?: string;
  status?: NotificationDelivery['status'];
}

/** The filter is part of the URL, so that it can be shared and survives a reload. */
export const load: PageLoad = async ({ url, parent }): Promise<{ filter: Filter }> => {
  await requireRight(parent, 'notifications.manage');
  const [channel, status] = [url.searchParams.get('channel'), url.searchParams.get('status')];
  const filter: Filter = {
    ...(channel && { channel_id: channel }),
    ...((status === 'pending' || status === 'sent' || status === 'failed') && { status }),
  };
  return { filter };
};
