/** Something that happened at a fake. */
export type WebhookEvent = {
	/** The same at every delivery of the event. */
	id: string;
	type: string;
	/** The exact text that is sent. */
	body: string;
	/** The receiver set for this event; null for the one of the settings. */
	receiver?: string | null;
};

/** How one delivery is signed: with another secret it is a forgery; `at` is the time it claims, where it claims one. */
export type SignOptions = {secret?: string; at?: Date};

/** The parts that a signature adds to a request. */
export type Signature = {headers?: Record<string, string>; query?: Record<string, string>};

export type Delivery<Event = WebhookEvent> = {event: Event; status: number; body: unknown};

/** The target of deliveries: a service by its base URL, or the receiver's own address. */
export type Destination = string | {url: string};

const parsed = (text: string): unknown => {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
};

const receiverOf = (destination: Destination, path: string, {query = {}}: Signature): URL => {
	const url = new URL(typeof destination === 'string' ? destination : destination.url);
	const receiver = url.pathname === '/' ? new URL(path, url) : url;
	for (const [name, value] of Object.entries(query)) {
		receiver.searchParams.set(name, value);
	}

	return receiver;
};

/**
 * Events and their signed deliveries. Nothing is delivered automatically: a test sends any event, in any order, any
 * number of times, at any time.
 * @param path the receiver below a service's base URL.
 */
export const createWebhookQueue = <Event extends WebhookEvent>(
	path: string,
	sign: (event: Event, options?: SignOptions) => Signature,
) => {
	const events: Event[] = [];
	const history: Event[] = [];
	let listener: ((event: Event) => void) | null = null;

	/** Sends one event once, even if it was sent before. Throws without an answer. */
	const send = async (destination: Destination, event: Event, options?: SignOptions): Promise<Delivery<Event>> => {
		const index = events.indexOf(event);
		if (index >= 0) {
			events.splice(index, 1);
		}

		const signature = sign(event, options);
		const response = await fetch(receiverOf(destination, path, signature), {
			method: 'POST',
			headers: {'content-type': 'application/json', ...signature.headers},
			body: event.body,
		});
		return {event, status: response.status, body: parsed(await response.text())};
	};

	return {
		/** Undelivered events, oldest first. */
		events,
		/** Everything that happened, oldest first. */
		history,
		sign,
		send,
		/** Sends these events one by one, in this order; without arguments all waiting ones, including new ones. */
		deliver: async (destination: Destination, ...given: Event[]): Promise<Array<Delivery<Event>>> => {
			const deliveries: Array<Delivery<Event>> = [];
			const queue = given.length === 0 ? events : [...given];
			for (let event = queue[0]; event !== undefined; event = queue[0]) {
				if (queue !== events) {
					queue.shift();
				}

				deliveries.push(await send(destination, event));
			}

			return deliveries;
		},
		/** Sends these events concurrently; without arguments all waiting ones. */
		deliverTogether: (destination: Destination, ...given: Event[]): Promise<Array<Delivery<Event>>> =>
			Promise.all((given.length === 0 ? [...events] : given).map((event) => send(destination, event))),
		/** The undelivered events that name any of these ids, oldest first. */
		eventsAbout: (...ids: string[]): Event[] => events.filter(({body}) => ids.some((id) => body.includes(`"${id}"`))),
		/** Receives each event instead of collecting it; null: collect again. */
		onEvent: (given: ((event: Event) => void) | null): void => {
			listener = given;
		},
		/** An event happened. */
		add: (event: Event): void => {
			history.push(event);
			if (listener === null) {
				events.push(event);
			} else {
				listener(event);
			}
		},
	};
};
