// The beam search of beam.py, for engine fastdecode: the same steps in the same order, on vectors
// instead of NumPy's arrays. See there for what is searched; compiled.py calls it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>
#include <vector>

namespace {

using Number = std::int64_t;

constexpr double NOTHING = -std::numeric_limits<double>::infinity();  // the logarithm of 0

struct Limits {
    Number beams, per_length;
    double alpha, gamma;
};

// Asks the language model: log P(token | state) and the state after it, `count` times. State 0 is
// that after <s>. Not 0 is returned if that failed.
using Ask = int (*)(Number count, const Number* states, const Number* tokens, double* gained,
                    Number* after);

// From pairs (shorter prefix, token) to numbers of prefixes: a table with open addressing.
class Table {
public:
    Table() : entries_(1 << 12) {}

    // Return the number of a key, `next` if it is new.
    Number find(Number key, Number next) {
        if (2 * (filled_ + 1) > entries_.size()) grow();
        Entry& entry = seek(key);
        if (entry.key == EMPTY) {
            entry = {key, next};
            ++filled_;
        }
        return entry.number;
    }

private:
    static constexpr Number EMPTY = -1;
    struct Entry {
        Number key = EMPTY, number = 0;
    };

    Entry& seek(Number key) {
        const std::size_t mask = entries_.size() - 1;
        std::size_t place = (static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15u >> 32) & mask;
        while (entries_[place].key != EMPTY && entries_[place].key != key)
            place = (place + 1) & mask;
        return entries_[place];
    }

    void grow() {
        std::vector<Entry> before(2 * entries_.size());
        before.swap(entries_);
        for (const Entry& entry : before)
            if (entry.key != EMPTY) seek(entry.key) = entry;
    }

    std::vector<Entry> entries_;
    std::size_t filled_ = 0;
};

// What the language model said, each answer once: many prefixes end alike.
class Answers {
public:
    Answers(Number words, Ask ask) : words_(words), ask_(ask) {}

    // Return the place of an answer; it may have to be asked for first (`ask`).
    Number find(Number state, Number token) {
        const Number next = static_cast<Number>(tokens_.size());
        const Number found = table_.find(state * words_ + token, next);
        if (found == next) {
            states_.push_back(state);
            tokens_.push_back(token);
        }
        return found;
    }

    // Ask for all answers that are not there yet. Return false if that failed.
    bool ask() {
        const std::size_t known = gained_.size(), fresh = tokens_.size() - known;
        if (!fresh) return true;
        gained_.resize(tokens_.size());
        after_.resize(tokens_.size(), UNKNOWN);
        if (ask_(fresh, &states_[known], &tokens_[known], &gained_[known], &after_[known]))
            return false;
        // Python may have been interrupted before it could say so.
        return std::find(after_.begin() + known, after_.end(), UNKNOWN) == after_.end();
    }

    double gained(Number place) const { return gained_[place]; }
    Number after(Number place) const { return after_[place]; }

private:
    static constexpr Number UNKNOWN = -1;
    const Number words_;
    const Ask ask_;
    Table table_;
    std::vector<Number> states_, tokens_, after_;
    std::vector<double> gained_;
};

struct Arrival {
    Number prefix;
    double mass;  // its logarithm, as all masses
};

// The logarithm of a sum, as NumPy's logaddexp has it.
double add(double a, double b) {
    if (a == NOTHING) return b;
    if (a == b) return a + std::log(2.0);
    return a > b ? a + std::log1p(std::exp(b - a)) : b + std::log1p(std::exp(a - b));
}

class Search {
public:
    Search(Number words, double start, const Limits& limits, Answers* answers)
        : words_(words), limits_(limits), answers_(answers) {
        append(0, 0, 1);
        total_[0] = start;
    }

    // Follow all prefixes to the last of `size` vertices, with `width` pairs at each.
    // Return false if the language model failed.
    bool run(Number size, Number width, const Number* vertices, const Number* words,
             const double* steps) {
        std::vector<std::vector<Arrival>> arrived(size);
        arrived[0].push_back({0, total_[0]});
        for (Number here = 0; here + 1 < size; ++here) {
            if (arrived[here].empty()) continue;
            merge(arrived[here]);
            prune();
            arrived[here] = {};
            const Number known = count();
            for (Number pair = here * width; pair < (here + 1) * width; ++pair) {
                if (!(steps[pair] > NOTHING)) continue;
                for (const Number kept : order_) {
                    const double added = beams_[kept].mass + steps[pair];
                    const Number longer = number(beams_[kept].prefix, words[pair]);
                    total_[longer] = add(total_[longer], added);
                    arrived[vertices[pair]].push_back({longer, added});
                }
            }
            if (answers_ && !score(known)) return false;
        }
        merge(arrived[size - 1]);
        ranks();
        order_.resize(beams_.size());
        std::iota(order_.begin(), order_.end(), 0);
        std::sort(order_.begin(), order_.end(), [this](Number a, Number b) { return better(a, b); });
        return true;
    }

    Number found() const { return static_cast<Number>(order_.size()); }
    double rank(Number place) const { return ranks_[order_[place]]; }

    // Write the tokens of the translation in `place`, without its frame; return how many.
    Number write(Number place, Number* tokens) const {
        Number prefix = parents_[beams_[order_[place]].prefix];  // without </s>
        const Number length = lengths_[prefix] - 1;
        for (Number i = length; i-- > 0; prefix = parents_[prefix]) tokens[i] = tokens_[prefix];
        return length;
    }

private:
    Number count() const { return static_cast<Number>(tokens_.size()); }

    void append(Number parent, Number token, Number length) {
        parents_.push_back(parent);
        tokens_.push_back(token);
        lengths_.push_back(length);
        total_.push_back(NOTHING);
        language_.push_back(0.0);
        states_.push_back(0);
        place_.push_back(-1);
    }

    Number number(Number parent, Number token) {
        const Number next = count();
        const Number found = table_.find(parent * words_ + token, next);
        if (found == next) append(parent, token, lengths_[parent] + 1);
        return found;
    }

    // Give all prefixes from `known` on what the language model says of them.
    bool score(Number known) {
        found_.clear();
        for (Number i = known; i < count(); ++i)
            found_.push_back(answers_->find(states_[parents_[i]], tokens_[i]));
        if (!answers_->ask()) return false;
        for (Number i = known; i < count(); ++i) {
            const Number answer = found_[i - known];
            language_[i] = language_[parents_[i]] + answers_->gained(answer);
            states_[i] = answers_->after(answer);
        }
        return true;
    }

    // Put into beams_ every prefix once, with the sum of its masses.
    void merge(const std::vector<Arrival>& arrived) {
        beams_.clear();
        for (const Arrival& one : arrived) {
            if (place_[one.prefix] < 0) {
                place_[one.prefix] = static_cast<Number>(beams_.size());
                beams_.push_back({one.prefix, NOTHING});
            }
            double& mass = beams_[place_[one.prefix]].mass;
            mass = add(mass, one.mass);
        }
        for (const Arrival& one : beams_) place_[one.prefix] = -1;
    }

    // Equation 11.
    void ranks() {
        ranks_.resize(beams_.size());
        for (std::size_t i = 0; i < beams_.size(); ++i) {
            const Number prefix = beams_[i].prefix, length = lengths_[prefix];
            while (static_cast<Number>(penalties_.size()) <= length)
                penalties_.push_back(std::pow(penalties_.size(), limits_.alpha));
            ranks_[i] = (total_[prefix] + limits_.gamma * language_[prefix]) / penalties_[length];
        }
    }

    // Of equally good ones the first that was found comes first.
    bool better(Number a, Number b) const {
        return ranks_[a] != ranks_[b] ? ranks_[a] > ranks_[b] : beams_[a].prefix < beams_[b].prefix;
    }

    // Put into order_ the best of each length, of these the best of all: the best first.
    void prune() {
        ranks();
        const auto better = [this](Number a, Number b) { return this->better(a, b); };
        for (auto& same : by_length_) same.clear();
        for (Number i = 0; i < static_cast<Number>(beams_.size()); ++i) {
            const std::size_t length = lengths_[beams_[i].prefix];
            if (by_length_.size() <= length) by_length_.resize(length + 1);
            by_length_[length].push_back(i);
        }
        order_.clear();
        for (auto& same : by_length_) {
            const auto kept = same.begin() + std::min<Number>(same.size(), limits_.per_length);
            if (kept != same.end()) std::nth_element(same.begin(), kept, same.end(), better);
            order_.insert(order_.end(), same.begin(), kept);
        }
        std::sort(order_.begin(), order_.end(), better);
        if (static_cast<Number>(order_.size()) > limits_.beams) order_.resize(limits_.beams);
    }

    const Number words_;
    const Limits& limits_;
    Answers* const answers_;  // null without a language model
    Table table_;
    // by number of a prefix; 0 is <s>
    std::vector<Number> parents_, tokens_, lengths_, states_, place_;
    std::vector<double> total_, language_;
    std::vector<double> penalties_;  // by length
    // of the vertex that is visited
    std::vector<Arrival> beams_;
    std::vector<double> ranks_;
    std::vector<Number> order_, found_;
    std::vector<std::vector<Number>> by_length_;
};

}  // namespace

// Search the graphs of `batch` sentences, padded to (longest, width). `found` translations of each
// are wanted: `tokens` (batch, found, longest) and `lengths`, `scores` (batch, found); a length of
// -1 is none. Returns 0, 1 if the language model failed, or 2 if memory did not suffice.
extern "C" int search_beams(Number batch, Number longest, Number width, const Number* sizes,
                            const Number* vertices, const Number* words, const double* steps,
                            const double* starts, Number vocabulary, Number beams,
                            Number per_length, double alpha, double gamma, Ask ask, Number found,
                            Number* tokens, Number* lengths, double* scores) try {
    const Limits limits{beams, per_length, alpha, gamma};
    Answers answers(vocabulary, ask);
    for (Number b = 0; b < batch; ++b) {
        Search search(vocabulary, starts[b], limits, ask ? &answers : nullptr);
        const Number first = b * longest * width;
        if (!search.run(sizes[b], width, vertices + first, words + first, steps + first)) return 1;
        for (Number i = 0; i < found; ++i) {
            const Number place = b * found + i;
            lengths[place] = -1;
            if (i >= search.found()) continue;
            lengths[place] = search.write(i, tokens + place * longest);
            scores[place] = search.rank(i);
        }
    }
    return 0;
} catch (const std::bad_alloc&) {  // no exception may leave C++
    return 2;
}
