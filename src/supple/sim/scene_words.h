// The words of scene files, and what they stand for; scene_fields.h says which field takes which.
#pragma once

#include <array>
#include <string_view>

#include "supple/sim/scene.h"

namespace supple {

/// The words a text field may hold, with the value each stands for.
template <class T>
struct Word {
  std::string_view word;
  T value;
};

inline constexpr std::array<Word<SkinningMethod>, 2> skinning_words = {
    {{"linear", SkinningMethod::linear}, {"dual_quaternion", SkinningMethod::dual_quaternion}}};

inline constexpr std::array<Word<ShapeType>, 4> shape_words = {{{"none", ShapeType::none},
                                                                {"box", ShapeType::box},
                                                                {"sphere", ShapeType::sphere},
                                                                {"tube", ShapeType::tube}}};

inline constexpr std::array<Word<TimeUnit>, 2> time_unit_words = {
    {{"seconds", TimeUnit::seconds}, {"frames", TimeUnit::frames}}};

inline constexpr std::array<Word<Ramp>, 2> ramp_words = {
    {{"smooth", Ramp::smooth}, {"linear", Ramp::linear}}};

inline constexpr std::array<Word<WeightCarrier>, 2> weight_carrier_words = {
    {{"tension", WeightCarrier::tension}, {"rest_shape", WeightCarrier::rest_shape}}};

inline constexpr std::array<Word<SolverMethod>, 4> method_words = {
    {{"multigrid_cg", SolverMethod::multigrid_cg},
     {"v_cycle", SolverMethod::v_cycle},
     {"jacobi_cg", SolverMethod::jacobi_cg},
     {"plain_cg", SolverMethod::plain_cg}}};

inline constexpr std::array<Word<SolverDifferential>, 5> differential_words = {
    {{"automatic", SolverDifferential::automatic},
     {"projected", SolverDifferential::projected},
     {"exact", SolverDifferential::exact},
     {"warped", SolverDifferential::warped},
     {"zhu", SolverDifferential::zhu}}};

inline constexpr std::array<Word<Quadrature>, 3> quadrature_words = {
    {{"stabilised", Quadrature::stabilised},
     {"one_point", Quadrature::one_point},
     {"eight_point", Quadrature::eight_point}}};

inline constexpr std::array<Word<VoxelLaw>, 3> law_words = {{{"nonuniform", VoxelLaw::nonuniform},
                                                             {"bending", VoxelLaw::bending},
                                                             {"uniform", VoxelLaw::uniform}}};

inline constexpr std::array<Word<SkinEmbedding>, 2> embedding_words = {
    {{"linear", SkinEmbedding::linear}, {"smooth", SkinEmbedding::smooth}}};

inline constexpr std::array<Word<VoxelFill>, 2> fill_words = {
    {{"exact", VoxelFill::exact}, {"half", VoxelFill::half}}};

inline constexpr std::array<Word<StartState>, 2> start_words = {
    {{"rest", StartState::rest}, {"equilibrium", StartState::equilibrium}}};

inline constexpr std::array<Word<MaterialPreset>, 4> material_words = {
    {{"flesh", MaterialPreset::flesh},
     {"fat", MaterialPreset::fat},
     {"muscle", MaterialPreset::muscle},
     {"firm", MaterialPreset::firm}}};

inline constexpr std::array<Word<MaterialPreset>, 5> region_material_words = {
    {{"same", MaterialPreset::same},
     {"flesh", MaterialPreset::flesh},
     {"fat", MaterialPreset::fat},
     {"muscle", MaterialPreset::muscle},
     {"firm", MaterialPreset::firm}}};

inline constexpr std::array<Word<BoneHold>, 4> hold_words = {{{"soft", BoneHold::soft},
                                                              {"hard", BoneHold::hard},
                                                              {"sliding", BoneHold::sliding},
                                                              {"none", BoneHold::none}}};

inline constexpr std::array<Word<BoneHold>, 5> bone_hold_words = {{{"same", BoneHold::same},
                                                                   {"soft", BoneHold::soft},
                                                                   {"hard", BoneHold::hard},
                                                                   {"sliding", BoneHold::sliding},
                                                                   {"none", BoneHold::none}}};

inline constexpr std::array<Word<ColliderType>, 5> collider_words = {
    {{"plane", ColliderType::plane},
     {"sphere", ColliderType::sphere},
     {"capsule", ColliderType::capsule},
     {"box", ColliderType::box},
     {"mesh", ColliderType::mesh}}};

inline constexpr std::array<Word<Law>, 6> tet_law_words = {
    {{"stvk", Law::stvk},
     {"invertible_stvk", Law::invertible_stvk},
     {"stvk_volume", Law::stvk_volume},
     {"neo_hookean", Law::neo_hookean},
     {"corotated", Law::corotated},
     {"linear", Law::linear}}};

inline constexpr std::array<Word<TetCageMethod>, 2> cage_words = {
    {{"bcc", TetCageMethod::bcc}, {"delaunay", TetCageMethod::delaunay}}};

inline constexpr std::array<Word<SkeletonMode>, 2> skeleton_words = {
    {{"kinematic", SkeletonMode::kinematic}, {"two-way", SkeletonMode::two_way}}};

inline constexpr std::array<Word<JointType>, 6> joint_words = {{{"free", JointType::free},
                                                                {"ball", JointType::ball},
                                                                {"universal", JointType::universal},
                                                                {"hinge", JointType::hinge},
                                                                {"prismatic", JointType::prismatic},
                                                                {"fixed", JointType::fixed}}};

inline constexpr std::array<Word<ControlType>, 5> control_words = {
    {{"hold", ControlType::hold},
     {"track", ControlType::track},
     {"keys", ControlType::keys},
     {"passive", ControlType::passive},
     {"direct", ControlType::direct}}};

inline constexpr std::array<Word<TetDynamics>, 2> tet_dynamics_words = {
    {{"explicit", TetDynamics::explicit_steps}, {"implicit", TetDynamics::implicit_steps}}};

inline constexpr std::array<Word<StepMethod>, 2> step_method_words = {
    {{"tr_bdf2", StepMethod::tr_bdf2}, {"backward_euler", StepMethod::backward_euler}}};

inline constexpr std::array<Word<LatticeSteps>, 3> lattice_steps_words = {
    {{"plain", LatticeSteps::plain},
     {"tr_bdf2", LatticeSteps::tr_bdf2},
     {"backward_euler", LatticeSteps::backward_euler}}};

inline constexpr std::array<Word<AdjustDamping>, 3> adjust_damping_words = {
    {{"scaled", AdjustDamping::scaled},
     {"moving", AdjustDamping::moving},
     {"still", AdjustDamping::still}}};

inline constexpr std::array<Word<AdjustDerivatives>, 2> adjust_derivative_words = {
    {{"own", AdjustDerivatives::own}, {"five_point", AdjustDerivatives::five_point}}};

inline constexpr std::array<Word<ObjectStart>, 5> object_start_words = {
    {{"rest", ObjectStart::rest},
     {"random", ObjectStart::random},
     {"flat", ObjectStart::flat},
     {"point", ObjectStart::point},
     {"inverted", ObjectStart::inverted}}};

/// Words for the types of bodies.
inline constexpr std::array<std::string_view, 6> body_words = {"automatic", "skinning", "lattice",
                                                               "voxels",    "tets",     "surface"};

}  // namespace supple
