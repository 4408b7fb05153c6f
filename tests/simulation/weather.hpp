#pragma once

#include "simulation/dice.hpp"

namespace sluice::simulation {

// How likely each fault is. Each play draws its own mix, in which some faults never happen, so that
// faults meet in many combinations.
struct Weather {
    // In percent: of messages…
    int lost = 0;      // requests, and as many answers
    int repeated = 0;  // requests
    int late = 0;      // requests and answers that take seconds
    int hints_lost = 0;
    // … of sessions…
    int store_fails = 0;
    int conflicts = 0;
    int busy_entities = 0;
    int dies_in_session = 0;
    int slow = 0;
    // … of the actions of workers.
    int pauses = 0;
    int vanishes = 0;
    // How often in a minute, at the most.
    int deaths = 0;
    int full_disks = 0;
    int clock_steps = 0;

    static Weather calm() { return {}; }
    static Weather drawn_by(Dice& dice) {
        const auto up_to = [&](int most) { return dice.one_in(2) ? 0 : 1 + dice.below(most); };
        Weather weather;
        weather.lost = up_to(12);
        weather.repeated = up_to(15);
        weather.late = up_to(10);
        weather.hints_lost = dice.one_in(6) ? 100 : up_to(60);
        weather.store_fails = up_to(8);
        weather.conflicts = up_to(15);
        weather.dies_in_session = up_to(4);
        weather.slow = up_to(8);
        weather.pauses = up_to(20);
        weather.vanishes = up_to(12);
        weather.deaths = up_to(6);
        weather.full_disks = dice.one_in(3) ? 1 : 0;
        weather.clock_steps = dice.one_in(3) ? 2 : 0;
        weather.busy_entities = up_to(15);
        return weather;
    }
};

}  // namespace sluice::simulation
