/** A way between the processes of an installation that works without PostgreSQL. Messages may be lost. */
export type SecondLine = {
	/** Sends a text to all other processes, and perhaps to this one. */
	say(text: string): void;
	onText(listener: (text: string) => void): void;
	close(): void;
};
