/** The query of the list of sessions while another view is open. */
const STORAGE = "partita.threads.filters";

export const keptQuery = (): string => sessionStorage.getItem(STORAGE) ?? "";

export const keepQuery = (query: string): void => sessionStorage.setItem(STORAGE, query);
