import { connection } from '#lib/api/connection.svelte.ts';
import { browserPorts, openSocket } from '#lib/live/browser-ports.ts';
import { LiveSocket } from '#lib/live/live-socket.ts';

/** A user who is editing the file. */
export interface Editor {
  user_id: string;
  name: string;
}

/** The server sends the list of editors every 10 seconds, so this allows for three missed messages. */
const maxSilenceMs = 40_000;

/** Announces that this user is editing a file, and reports all users who are editing it. Reports no users while the
 *  server is unreachable.
 *  @returns a function that stops both */
export function followEditors(
  scriptId: string,
  path: string,
  show: (editors: Editor[]) => void,
): () => void {
  const address = `/ws/scripts/${scriptId}/editors?${new URLSearchParams({ path })}`;
  const socket = new LiveSocket(
    { ...browserPorts, open: (token) => openSocket(address, token) },
    {
      onText: (text) => show((JSON.parse(text) as { editors: Editor[] }).editors),
      onLink: ({ state }) => {
        if (state !== 'live') show([]);
      },
    },
    maxSilenceMs,
  );
  const forgetConnection = connection.onBack(() => void socket.connect());
  void socket.connect();
  return () => {
    forgetConnection();
    socket.close();
  };
}
