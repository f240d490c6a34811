// Sessions that are only on the hub.
import { get, getJSON, lines } from "/api.js";
import { size } from "/dom.js";

// where says where a session is, or who writes it; "": here.
export const where = (session) => (session.claimedBy ? `live on ${session.claimedBy}` : session.remote ? "on the hub" : "");

// here returns a session, after the server has fetched it if it is only on the hub. progress is called with what is
// happening meanwhile.
export async function here(key, progress = () => {}) {
  const path = `/api/sessions/${encodeURI(key)}`;
  const session = await getJSON(path);
  if (!session.remote) return session;
  progress("Fetching from the hub …", session);
  const answer = await get(`${path}/fetch`, { method: "POST", body: "{}", headers: { "Content-Type": "application/json" } });
  for await (const line of lines(answer)) {
    const part = JSON.parse(line);
    if (part.error) throw new Error(part.error);
    if (part.bytes) progress(`Fetching from the hub … ${size(part.bytes)}`, session);
    if (part.ended) return getJSON(path);
  }
  throw new Error("The server ended the connection before the session was fetched.");
}
