// Package jetstream is the engine of a hub on NATS JetStream.
//
// All messages are in one stream with a random part in its name, which Init creates:
//
//	stream    AGENT_CHATTER_<random>
//	subjects  agent-chatter.<team>.<session>
//	metadata  agent-chatter-format: 1
//	storage   files, no limits of age, size or number; messages cannot be deleted one by one
//	reads     of the last message: from the leader (no allow_direct)
//
// The head of a message is in its header Agent-Chatter, the body is its payload. The revision of a
// message is its sequence number in the stream. Publish names the last sequence number of the
// subject that it expects, and the stream, so that a stream that was created again refuses it. It sends no message
// id: within the time in which the server remembers ids, it would acknowledge a message that was purged
// without storing it. A body has at most 4 MiB, also if max_payload is larger: many messages are requested at once, in
// bounded memory. A larger one that another client has stored is requested as a whole.
//
// The settings of a stream can be changed. One with allow_direct is refused; Warnings returns those that lose messages.
//
// # Durability
//
// A server acknowledges a message when it has written it to a file, and by default syncs that file every two
// minutes. For an acknowledgement to survive a power cut, its configuration needs
//
//	jetstream { sync_interval: always }
//
// Clients cannot read this setting.
package jetstream
